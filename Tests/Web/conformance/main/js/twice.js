const twice = (number) => 2 * number;
