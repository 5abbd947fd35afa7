"""Stanchev et al. 2020 on Kendall's tau: its sentences compared with ours."""
