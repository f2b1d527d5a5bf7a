export const name = "bare";
