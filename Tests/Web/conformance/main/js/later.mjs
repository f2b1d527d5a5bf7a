export const later = await Promise.resolve("later");
