"""What people read and see: numbers as text, pages, pictures and notebook tables."""
