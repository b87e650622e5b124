"""Laws, held against whatever hypothesis makes up."""
