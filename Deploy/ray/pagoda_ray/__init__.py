"""Replicas of `pagoda serve` on Ray Serve, routed by what each has in its prefix cache."""

VERSION = "0.1.0"  # of the engines that this package was made for; a replica of another one is refused
