/** Maximum number of days in any setting: a hundred years. */
export const maxDays = 36_500;
