// Puts PNG files into the two containers that Windows and macOS want. Called by `./dev icons`.
//   node pack.mjs OUT.ico|OUT.icns PNG…
import { readFileSync, writeFileSync } from "node:fs";

const [out, ...files] = process.argv.slice(2);
const images = files.map((file) => {
  const png = readFileSync(file);
  return { png, size: png.readUInt32BE(16) }; // the width, from the PNG's header
});

// A 16-byte entry for each image, then the images. A size of 256 is written as 0.
function ico() {
  const head = Buffer.alloc(6 + 16 * images.length);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(images.length, 4);
  let offset = head.length;
  images.forEach(({ png, size }, index) => {
    const entry = 6 + 16 * index;
    head.writeUInt8(size % 256, entry);
    head.writeUInt8(size % 256, entry + 1);
    head.writeUInt16LE(1, entry + 4); // colour planes
    head.writeUInt16LE(32, entry + 6); // bits a pixel
    head.writeUInt32LE(png.length, entry + 8);
    head.writeUInt32LE(offset, entry + 12);
    offset += png.length;
  });
  return Buffer.concat([head, ...images.map(({ png }) => png)]);
}

// A four-letter name and a length before each image. Some sizes have two names: plain, and as the
// double-density picture of half that size.
const ICNS_NAMES = {
  32: ["ic11"],
  64: ["ic12"],
  128: ["ic07"],
  256: ["ic08", "ic13"],
  512: ["ic09", "ic14"],
  1024: ["ic10"],
};

function icns() {
  const chunk = (name, body) => {
    const head = Buffer.alloc(8);
    head.write(name, "latin1");
    head.writeUInt32BE(body.length + 8, 4);
    return Buffer.concat([head, body]);
  };
  const chunks = images.flatMap(({ png, size }) => ICNS_NAMES[size].map((name) => chunk(name, png)));
  return chunk("icns", Buffer.concat(chunks));
}

writeFileSync(out, out.endsWith(".ico") ? ico() : icns());
