"""`memory-node bench world`: is what memory believes of a home so, after each of many legal skill calls?"""
