"""What needs a pretrained model or word vectors: nothing here is imported before it is asked for."""
