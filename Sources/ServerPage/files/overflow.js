// Chats that do not fit into the browser's storage are kept in its database, which has room for more.

function database() {
  return new Promise((done, fail) => {
    const opening = indexedDB.open("pagoda-chats", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("chats", { keyPath: "id" });
    opening.onsuccess = () => done(opening.result);
    opening.onerror = opening.onblocked = () => fail(opening.error);
  });
}

async function change(mode, work) {
  const open = await database();
  return new Promise((done, fail) => {
    const transaction = open.transaction("chats", mode, { durability: "strict" });
    const request = work(transaction.objectStore("chats"));
    transaction.oncomplete = () => done(request.result);
    transaction.onerror = transaction.onabort = () => fail(transaction.error);
  }).finally(() => open.close());
}

// All of them; none if the browser has no database.
export const spilled = () => change("readonly", (chats) => chats.getAll()).catch(() => []);

// Rejects if the database is full too.
export const spill = (chat) => change("readwrite", (chats) => chats.put(JSON.parse(JSON.stringify(chat))));

export const unspill = (id) => change("readwrite", (chats) => chats.delete(id)).catch(() => {});
