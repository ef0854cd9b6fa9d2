// Images of messages: made smaller before they are sent, kept in the browser's database (storage for chats has room for few
// of them), and shown as thumbnails. A message has their ids, widths and heights.
import { element } from "./dom.js";
import { store } from "./store.js";
import { toast } from "./toast.js";

const MAX_SIDE = 2048; // pixels; the model resizes further
const MAX_PLAIN_BYTES = 2 ** 20; // smaller files are sent as they are
const TYPES = ["image/png", "image/jpeg", "image/webp"];
const cache = new Map(); // data URLs by id; the only copy until the message is sent, or if the browser has no database

export const isImage = (file) => file.type.startsWith("image/");

function database() {
  return new Promise((done, fail) => {
    const opening = indexedDB.open("pagoda", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("images");
    opening.onsuccess = () => done(opening.result);
    opening.onerror = () => fail(opening.error);
  });
}

async function change(mode, work) {
  const open = await database();
  return new Promise((done, fail) => {
    const transaction = open.transaction("images", mode);
    const request = work(transaction.objectStore("images"));
    transaction.oncomplete = () => done(request.result);
    transaction.onerror = transaction.onabort = () => fail(transaction.error);
  }).finally(() => open.close());
}

function readURL(blob) {
  return new Promise((done, fail) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.onerror = () => fail(reader.error);
    reader.readAsDataURL(blob);
  });
}

// The picture as a data URL that the server reads, at most MAX_SIDE wide and high.
async function shrunk(file) {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, MAX_SIDE / Math.max(bitmap.width, bitmap.height));
  const [width, height] = [bitmap.width, bitmap.height].map((side) => Math.max(1, Math.round(side * scale)));
  if (scale === 1 && file.size <= MAX_PLAIN_BYTES && TYPES.includes(file.type)) return { url: await readURL(file), width, height };
  const canvas = element("canvas", { width, height });
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff"; // JPEG has no transparency
  context.fillRect(0, 0, width, height);
  context.drawImage(bitmap, 0, 0, width, height);
  return { url: canvas.toDataURL("image/jpeg", 0.92), width, height };
}

// An image for the next message. Null, with a note, if the browser cannot read the file.
export async function readImage(file) {
  try {
    const { url, width, height } = await shrunk(file);
    const image = { id: store.newID(), name: file.name || "image", width, height };
    cache.set(image.id, url);
    return image;
  } catch {
    toast(`${file.name || "This file"} is not an image that this browser can read`);
    return null;
  }
}

// Stores the images of a message that has been sent.
export async function keepImages(list) {
  for (const { id } of list) {
    await change("readwrite", (images) => images.put(cache.get(id), id)).catch(() => toast("The browser keeps this image only until the page closes"));
  }
}

// The data URL of a message's image; null if it is gone.
export async function imageURL({ id }) {
  if (!cache.has(id)) cache.set(id, (await change("readonly", (images) => images.get(id)).catch(() => null)) ?? null);
  return cache.get(id);
}

export function thumbnail(image) {
  const picture = element("img", { class: "thumbnail", alt: image.name, title: `${image.name}, ${image.width} × ${image.height}` });
  imageURL(image).then((url) => (url ? (picture.src = url) : picture.replaceWith(element("span", { class: "chip" }, `${image.name} (no longer stored)`))));
  return picture;
}

const imagesOf = (chats) => chats.flatMap((chat) => chat.messages.flatMap((message) => message.images ?? []));

// Copies of chats whose images carry their data, for export.
export async function withImages(chats) {
  const copies = structuredClone(chats);
  for (const image of imagesOf(copies)) image.url = await imageURL(image);
  return copies;
}

// The reverse, for import.
export async function takeImages(chats) {
  const given = imagesOf(chats).filter((image) => image.url);
  for (const image of given) {
    if (typeof image.url === "string" && image.url.startsWith("data:image/")) cache.set(image.id, image.url);
    delete image.url;
  }
  await keepImages(given.filter((image) => cache.get(image.id)));
}

// Forgets images of deleted chats; at the start of the page, so that a deletion can be undone before.
export async function forgetUnused() {
  const used = new Set(imagesOf(store.chats).map((image) => image.id));
  const known = await change("readonly", (images) => images.getAllKeys()).catch(() => []);
  for (const id of known.filter((key) => !used.has(key))) await change("readwrite", (images) => images.delete(id)).catch(() => {});
}
