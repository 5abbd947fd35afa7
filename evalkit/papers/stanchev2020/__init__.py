"""Stanchev et al. 2020 on Kendall's tau: its sentences, and WMT20's official results, held against ours."""
