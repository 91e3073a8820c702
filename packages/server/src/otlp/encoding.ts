/** Encoding of a request and its response (OTLP specification, "OTLP/HTTP"). */
export type Encoding = 'json' | 'protobuf';

/** Media types of the encodings. */
export const mediaTypes: Readonly<Record<Encoding, string>> = {
  json: 'application/json',
  protobuf: 'application/x-protobuf',
};

/** Returns the encoding of a request's content type; undefined for any other type. */
export function encodingOf(contentType: string | undefined): Encoding | undefined {
  const mediaType = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType === mediaTypes.json) return 'json';
  return mediaType === mediaTypes.protobuf ? 'protobuf' : undefined;
}
