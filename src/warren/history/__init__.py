"""What happened, kept: written down as Warren works, put into Parquet by Spark, read by replay, plan and charts."""
