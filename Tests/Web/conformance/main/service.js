onfetch = () => {};
