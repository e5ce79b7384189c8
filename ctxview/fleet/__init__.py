"""Many sources at once: read each into rows of Parquet tables, and answer questions with SQL. No screen."""
