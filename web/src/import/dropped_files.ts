/** More than the files of any model; whoever drops a home folder by mistake need not wait. */
const kMaxFiles = 2000;

/**
 * The files that were dropped, those of folders among them. Folders can be asked for only while the
 * event is being handled, so this must be called there.
 */
export async function dropped_files(transfer: DataTransfer): Promise<File[]> {
  const plain = [...transfer.files];
  const folders = [...transfer.items]
    .map((item) => item.webkitGetAsEntry())
    .filter((entry) => entry?.isDirectory === true) as FileSystemDirectoryEntry[];
  if (folders.length === 0) return plain;
  const names = new Set(folders.map(({ name }) => name));
  const inside = await Promise.all(folders.map(files_of));
  return [...plain.filter(({ name }) => !names.has(name)), ...inside.flat()];
}

/** The files that lie directly in a folder: a model has all of its own there. */
async function files_of(folder: FileSystemDirectoryEntry): Promise<File[]> {
  const reader = folder.createReader();
  const files: File[] = [];
  // A folder is listed in batches, the last of which is empty.
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((done, failed) =>
      reader.readEntries(done, failed),
    );
    if (batch.length === 0 || files.length > kMaxFiles) return files;
    const entries = batch.filter((entry) => entry.isFile) as FileSystemFileEntry[];
    files.push(...(await Promise.all(entries.map(file_of))));
  }
}

function file_of(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((done, failed) => entry.file(done, failed));
}
