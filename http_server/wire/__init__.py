"""What travels: connections of clients, and the messages that come on them."""
