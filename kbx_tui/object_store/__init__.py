"""An index on an object store: published by one machine, mirrored by any number of others.

The client library, obstore, comes with the extra `kbx-tui[store]` and is imported only where an
object store is used.
"""
