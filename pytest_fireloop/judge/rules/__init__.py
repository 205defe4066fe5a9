"""The rules that open the circuit, a file each; the table finds them."""
