"""Local stand-ins for services that an account would be needed for; they ship with the product."""
