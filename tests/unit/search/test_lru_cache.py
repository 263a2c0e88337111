"""The cache evicts the least recently used entries."""

from kbx_tui.search.lru_cache import LruCache


def test_least_recently_used_is_evicted_first_and_values_can_be_dropped() -> None:
    cache: LruCache[str, int] = LruCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), cache.get("c"), len(cache)) == (1, None, 3, 2)

    cache = LruCache(2)
    cache.put("a", 1)
    cache.drop("a")
    cache.drop("b")
    assert cache.get("a") is None
