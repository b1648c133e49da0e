/** The variable of the environment that names the rules that are out, separated by {@link AND}. */
export const TAKEN_OUT = 'TAKEN_OUT';
export const AND = '+';
/** The global variable that collects the rules that a run reaches. */
export const REACHED = 'reachedRules';
