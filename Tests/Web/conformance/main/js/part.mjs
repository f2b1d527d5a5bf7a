export const name = import.meta.url.split("/").slice(-2).join("/");
