"""Programs with servers of their own listen on the loopback interface only, and report nothing."""

import os

os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
# Without clusters of several machines Ray takes the loopback address for its own.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
