/** A kind of file that can be identified by its first bytes. */
export interface FileSignature {
  readonly mediaType: string;
  /** The extension, without a dot. */
  readonly extension: string;
}

interface Signature extends FileSignature {
  /** The bytes from the offset on, as Latin-1 text. */
  readonly marks: readonly { readonly offset: number; readonly text: string }[];
}

const SIGNATURES: readonly Signature[] = [
  { mediaType: "image/png", extension: "png", marks: [{ offset: 0, text: "\x89PNG\r\n\x1a\n" }] },
  { mediaType: "image/jpeg", extension: "jpg", marks: [{ offset: 0, text: "\xff\xd8\xff" }] },
  { mediaType: "image/gif", extension: "gif", marks: [{ offset: 0, text: "GIF87a" }] },
  { mediaType: "image/gif", extension: "gif", marks: [{ offset: 0, text: "GIF89a" }] },
  {
    mediaType: "image/webp",
    extension: "webp",
    marks: [{ offset: 0, text: "RIFF" }, { offset: 8, text: "WEBP" }],
  },
  { mediaType: "application/pdf", extension: "pdf", marks: [{ offset: 0, text: "%PDF-" }] },
  {
    mediaType: "audio/wav",
    extension: "wav",
    marks: [{ offset: 0, text: "RIFF" }, { offset: 8, text: "WAVE" }],
  },
  { mediaType: "audio/mpeg", extension: "mp3", marks: [{ offset: 0, text: "ID3" }] },
  { mediaType: "audio/ogg", extension: "ogg", marks: [{ offset: 0, text: "OggS" }] },
  { mediaType: "audio/flac", extension: "flac", marks: [{ offset: 0, text: "fLaC" }] },
];

/**
 * Detects the kind of a file from its first bytes, independent of its declared type. Models refuse
 * every request with a file that is wrongly declared as an image. Returns null for an unknown kind.
 */
export function fileSignature(bytes: Uint8Array): FileSignature | null {
  const found = SIGNATURES.find(({ marks }) =>
    marks.every(({ offset, text }) =>
      [...text].every((character, index) => bytes[offset + index] === character.charCodeAt(0))
    )
  );
  return found === undefined ? null : { mediaType: found.mediaType, extension: found.extension };
}
