/** `true` only if the two types accept the same values and the first is not `any`. */
export type Exactly<A, B> = 0 extends 1 & A ? false : [A, B] extends [B, A] ? true : false;
