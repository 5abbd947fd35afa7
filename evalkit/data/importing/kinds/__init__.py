"""Kinds of exports: how each is recognised, and how its rows become judgements."""
