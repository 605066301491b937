"""Run by Python itself at the start of every process that Spark starts here.

Spark puts its own copy of PySpark, a zip archive of sources, before the one that is installed. Every process would
compile it anew, which takes three times as long as all the rest of its start.
"""

import sys

sys.path[:] = [path for path in sys.path if not path.endswith(("/pyspark.zip", "-src.zip"))]
