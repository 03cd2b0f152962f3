"""Speed and memory benchmarks; `make bench` runs them."""
