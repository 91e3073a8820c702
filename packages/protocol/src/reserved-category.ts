/** Category of the events that the service writes itself: decisions about actions. */
export const decisionCategory = 'guardian_decision';

/** Letters of other scripts that look like a letter of the category. */
const lookalikes: Readonly<Record<string, string>> = {
  а: 'a',
  α: 'a',
  с: 'c',
  ԁ: 'd',
  е: 'e',
  ɡ: 'g',
  і: 'i',
  ι: 'i',
  ı: 'i',
  п: 'n',
  ո: 'n',
  η: 'n',
  о: 'o',
  ο: 'o',
  օ: 'o',
  г: 'r',
  ѕ: 's',
  υ: 'u',
  ս: 'u',
};

/** The letters of {@link decisionCategory}. */
const reservedLetters = 'guardiandecision';

/** Categories as frameworks and the reference profile spell them. Each letter stands for itself. */
const plain = /^[a-z0-9_]*$/;

/**
 * `true` if a category reads like the category of decisions. Ignores case, whitespace, punctuation, invisible
 * characters, accents and look-alike letters. Otherwise a sender could forge a decision.
 */
export function isReservedCategory(category: string): boolean {
  // Every event is checked, and normalizing costs more than validating its whole body.
  const letters = plain.test(category) ? category.replaceAll('_', '') : skeleton(category);
  return letters === reservedLetters;
}

function skeleton(text: string): string {
  const letters = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
  return Array.from(letters, (letter) => lookalikes[letter] ?? letter).join('');
}
