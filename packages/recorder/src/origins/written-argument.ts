/** Arguments that the model writes as a whole: commands, code, edits. A path or a number within them says nothing. */
const writtenNames =
  /(?:^|[._-]|[a-z](?=[A-Z]))(?:argv|cmd|code|commands?|diff|edits?|file_text|input|(?:new|old)_?str(?:ing)?|patch|queries|query|script|shell|sql|source)$/i;
const urlValue = /^\s*[a-z][a-z\d+.-]*:\/\/\S+\s*$/i;
const hosts = [
  /\b[a-z][a-z\d+.-]*:\/\/(?:[^\s/@'"]{1,200}@)?((?:[a-z\d-]+\.)+[a-z]{2,}|\d{1,3}(?:\.\d{1,3}){3})/gi,
  /\b[\w.-]{1,64}@((?:[a-z\d-]+\.)+[a-z]{2,}|\d{1,3}(?:\.\d{1,3}){3})/gi,
  /\b(?:curl|wget|nc|ncat|netcat|telnet|ssh|scp|rsync|ping|dig|nslookup)\s(?:[^|;&\n]{0,200}?\s)?((?:[a-z\d-]+\.)+[a-z]{2,}|\d{1,3}(?:\.\d{1,3}){3})(?=[\s/:'")]|$)/gi,
  /\/dev\/(?:tcp|udp)\/([a-z\d.-]+)/gi,
];
const local = /^(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|.*\.local(?:host)?$)/i;
const mostHosts = 8;
const mostRead = 16 * 1024;

/** `true` for an argument that the model writes as a whole, such as a command, by its path. */
export function isWritten(path: string): boolean {
  return writtenNames.test(path);
}

/** `true` for an argument whose hosts are traced on their own: what the model writes, and the content of files. */
export function namesHosts(path: string): boolean {
  return isWritten(path) || /(?:^|\.)(?:contents?|text)$/i.test(path);
}

/** `true` for a value that is a URL. */
export function isUrl(text: string): boolean {
  return text.length <= mostRead && urlValue.test(text);
}

/** Returns the hosts that a command, code or a URL names, without those of the machine itself. */
export function hostsIn(text: string): string[] {
  if (!text.includes('.') && !text.includes('/dev/')) return [];
  const found = new Set<string>();
  const read = text.slice(0, mostRead);
  for (const pattern of hosts) {
    for (const [, host] of read.matchAll(pattern)) {
      if (host === undefined || local.test(host)) continue;
      found.add(host);
      if (found.size === mostHosts) return [...found];
    }
  }
  return [...found];
}

/** Returns the values that a URL carries after its host. */
export function carriedValues(url: string): string[] {
  const rest = url.trim().replace(/^[^:]*:\/\/[^/?#]*/, '');
  return rest
    .split(/[/?&=#;]+/)
    .filter((part) => part.length >= 4)
    .slice(-16);
}
