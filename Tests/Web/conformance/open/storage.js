// What another pack of this web view has kept must not be here.
const seen = async () => {
  let mark, bases;
  try { mark = localStorage.mark; } catch (error) { mark = undefined; }
  try { bases = (await indexedDB.databases()).length; } catch (error) { bases = 0; }
  return mark === undefined && !bases && !document.cookie ? "empty" : `${mark} ${bases} ${document.cookie}`;
};
seen().then((text) => parent.postMessage(text, "*"));
