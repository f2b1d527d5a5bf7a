export const name="engine";
