// tests of prices
