"""The few widgets everything is drawn with."""
