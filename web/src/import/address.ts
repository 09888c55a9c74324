/** Null where the text is no address. */
export function url_of(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** As it reads without percent signs, or as it is where that makes no sense. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
