"""Campaigns that send more judgements to some systems than to others while scores come in.

Who steers bends plain means: a system that was unlucky is not shown again, and its bad luck stays. ``policies`` are
ways of steering, ``replaying`` lays them on real judgements whose truth is known, ``estimates`` undo the bend by logged
probabilities, ``sequences`` are intervals for any number of looks, and ``stopping`` says when a campaign may end.
"""
