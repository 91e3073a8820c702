/**
 * Whether `text` fits a pattern in which `*` stands for any run of characters and everything else for itself.
 * Greedy with one step back, so its time is bounded by the product of the lengths; a regular expression would not
 * be.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  let inPattern = 0;
  let inText = 0;
  let lastStar = -1;
  let resumeAt = 0;
  while (inText < text.length) {
    if (pattern[inPattern] === '*') {
      lastStar = inPattern;
      resumeAt = inText;
      inPattern += 1;
    } else if (inPattern < pattern.length && pattern[inPattern] === text[inText]) {
      inPattern += 1;
      inText += 1;
    } else if (lastStar >= 0) {
      resumeAt += 1;
      inText = resumeAt;
      inPattern = lastStar + 1;
    } else {
      return false;
    }
  }
  while (pattern[inPattern] === '*') inPattern += 1;
  return inPattern === pattern.length;
}
