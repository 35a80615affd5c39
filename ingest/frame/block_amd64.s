#include "textflag.h"

DATA quotes<>+0(SB)/8, $0x2222222222222222
GLOBL quotes<>(SB), RODATA|NOPTR, $8
DATA slashes<>+0(SB)/8, $0x5C5C5C5C5C5C5C5C
GLOBL slashes<>(SB), RODATA|NOPTR, $8
DATA controls<>+0(SB)/8, $0x1F1F1F1F1F1F1F1F
GLOBL controls<>(SB), RODATA|NOPTR, $8

// func blockMasks(b *[64]byte) (quote, slash, control uint64)
TEXT ·blockMasks(SB), NOSPLIT, $0-32
	MOVQ b+0(FP), AX
	VMOVDQU (AX), Y0
	VMOVDQU 32(AX), Y1

	VPBROADCASTQ quotes<>(SB), Y2
	VPCMPEQB Y0, Y2, Y3
	VPCMPEQB Y1, Y2, Y4
	VPMOVMSKB Y3, BX
	VPMOVMSKB Y4, CX
	SHLQ $32, CX
	ORQ BX, CX
	MOVQ CX, quote+8(FP)

	VPBROADCASTQ slashes<>(SB), Y2
	VPCMPEQB Y0, Y2, Y3
	VPCMPEQB Y1, Y2, Y4
	VPMOVMSKB Y3, BX
	VPMOVMSKB Y4, CX
	SHLQ $32, CX
	ORQ BX, CX
	MOVQ CX, slash+16(FP)

	// A byte is a control character when it is the lesser of itself and 0x1F.
	VPBROADCASTQ controls<>(SB), Y2
	VPMINUB Y0, Y2, Y3
	VPMINUB Y1, Y2, Y4
	VPCMPEQB Y0, Y3, Y3
	VPCMPEQB Y1, Y4, Y4
	VPMOVMSKB Y3, BX
	VPMOVMSKB Y4, CX
	SHLQ $32, CX
	ORQ BX, CX
	MOVQ CX, control+24(FP)

	VZEROUPPER
	RET
