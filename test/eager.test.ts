import { Script } from 'node:vm'
import { expect, test } from 'vitest'
import { compiledEagerly } from '../scripts/eager.ts'

const CODE = `"use strict";const first=add(1,2);
class Sum{static of(...all){return all.reduce((sum,n)=>add(sum,n),0)}get zero(){return 0}}
function add(a,b){return a+b}const later={at(n){return n},wait:async n=>n,plain:function(){return typeof add}};
async function wait(n){return[n].map(one=>add(one,1))[0]}
function*count(){yield*[1,2]}
({first,names:[add.name,wait.name,count.name,later.wait.name,later.plain.name],sum:Sum.of(1,2,3),zero:new Sum().zero,
at:later.at(4),plain:later.plain(),counted:[...count()],strict:(()=>{try{undeclared=1}catch(error){return error.name}})()})`

const run = (code: string): unknown => JSON.parse(JSON.stringify(new Script(code).runInNewContext()))

test('a script does the same, and its functions keep their names', () => {
  expect(run(compiledEagerly(CODE))).toEqual(run(CODE))
  expect(run(CODE)).toMatchObject({ names: ['add', 'wait', 'count', 'wait', 'plain'], strict: 'ReferenceError' })
})

test('V8 compiles its functions with it', () => {
  const cached = (code: string) => new Script(code).createCachedData().length
  const few = 'function one(list){return list.map(n=>n+1).filter(n=>n%2===0)}'
  expect(cached(compiledEagerly(few))).toBeGreaterThan(cached(few) * 1.3)
})

test('a script without functions is left as it is', () => {
  expect(compiledEagerly('let a=1;exports.a=a;')).toBe('let a=1;exports.a=a;')
})
