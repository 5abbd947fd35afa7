"""Stanchev et al. 2020 on Kendall's tau: its sentences, and WMT19's files, compared with ours."""
