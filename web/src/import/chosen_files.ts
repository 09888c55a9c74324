import { ImportFailure } from "./failure";

/** Files that a model may be made of; the rest of a folder is left alone. */
const kReadable =
  /\.(gguf|safetensors)$|\.safetensors\.index\.json$|^((quantize_|(hf_)?quant_|adapter_)?config)\.json$/i;
const kPickle = /\.(bin|pt|pth|ckpt|pkl)$/i;

/** What of the given files is read: all that a model may be made of. */
export function readable_files(files: readonly File[]): File[] {
  const readable = files.filter((file) => kReadable.test(file.name));
  if (readable.length > 0) return readable;
  throw new ImportFailure(
    files.some((file) => kPickle.test(file.name)) ? "pickle_only" : "unknown_files",
    { file: files[0]?.name ?? "" },
  );
}

/** A single JSON file is a configuration, whatever its name, unless it is an index of tensors. */
export function lone_config(files: readonly File[]): File | undefined {
  const [file] = files;
  return files.length === 1 && /\.json$/i.test(file!.name) && !/\.index\.json$/i.test(file!.name)
    ? file
    : undefined;
}
