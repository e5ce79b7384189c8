"""What can be said about any context without knowing its format: tokens, differences, text safety.

Imports nothing: each analysis is asked for by name, so that nobody pays for one they do not use.
"""
