// The reader module as the compiler of the catalogue's models, for builds without a native one:
//   node compile.mjs FOLDER INPUT.json OUTPUT.json
// FOLDER holds the built modules; the rest is as in core/tools/compile_catalogue.cpp.
import { readFileSync, writeFileSync } from "node:fs";
import { open_converter } from "./modules.mjs";

const [folder, input, output] = process.argv.slice(2);
const document = readFileSync(input);
const converter = await open_converter(folder, document);
writeFileSync(output, converter.compile(document));
