/** `true` if a client has the representation with this tag already (RFC 9110, section 13.1.2). */
export function isUnchanged(etag: string | undefined, ifNoneMatch = ''): boolean {
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return etag !== undefined && (tags.includes(etag) || tags.includes('*'));
}

/** Returns the encodings that `Accept-Encoding` names, without those of weight 0 (RFC 9110, section 12.5.3). */
export function acceptedEncodings(header: string): ReadonlySet<string> {
  const accepted = new Set<string>();
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    if (!parameters.some((text) => /^q=0(?:\.0*)?$/.test(text))) accepted.add(name);
  }
  return accepted;
}
