"""What the command says and does about answers that are remembered beside the fragments."""
