"""Who may come in: what is refused, how often one may try, OAuth and the page of consent."""
