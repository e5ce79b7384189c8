"""Request bodies of the interfaces of models, alone or in logs."""
