/** Identity of an approver. */
export interface Approver {
  /** Id of the API key (`key_…`), or of the person who is signed in (`usr_…`). */
  readonly key: string;
  /** The person, where the deployment knows who uses the key; null otherwise. */
  readonly principal: string | null;
}

/** `true` if both are one approver: they use the same key, or are known to be the same person. */
export function isSameApprover(left: Approver, right: Approver): boolean {
  if (left.key === right.key) return true;
  return left.principal !== null && right.principal !== null && isSamePerson(left.principal, right.principal);
}

/** `true` if two names are those of one person: only letter case, white space and Unicode form may differ. */
function isSamePerson(left: string, right: string): boolean {
  return left === right || folded(left) === folded(right);
}

/** Returns a name without the differences that readers do not see, so that nobody counts as two people. */
function folded(name: string): string {
  const visible = name
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/\s+/gu, ' ')
    .trim();
  // In upper case first, which unites forms of one letter, such as both small sigmas.
  return visible.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}
