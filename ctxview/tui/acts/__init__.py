"""What the commands do, one file a subject. Loaded when the first key of that subject is pressed."""
