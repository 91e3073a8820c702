/**
 * Returns the body of a response.
 *
 * @throws Error if it is longer than `maxBytes`
 */
export async function boundedBody(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error('the response is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
