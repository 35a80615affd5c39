// Pipe plays the parts around a tee that is measured:
//
//	pipe answer BYTES     a server: for each line on stdin an answer of that many bytes
//	pipe sink BYTES       a server that says "ready", reads that many bytes and says "done"
//	pipe pump CMD [ARG…]  what a tee has to do at least: start CMD and copy bytes both ways
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: pipe answer|sink BYTES, pipe pump CMD")
	}
	var err error
	switch os.Args[1] {
	case "pump":
		err = pump(os.Args[2:])
	default:
		size, parseErr := strconv.Atoi(os.Args[2])
		if parseErr != nil {
			log.Fatal(parseErr)
		}
		if os.Args[1] == "sink" {
			err = sink(size)
		} else {
			err = answer(size)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
}

func answer(size int) error {
	const front, back = `{"result":{"content":[{"type":"text","text":"`, `"}]},"jsonrpc":"2.0","id":1}` + "\n"
	text := []byte(front + strings.Repeat("x", max(0, size-len(front)-len(back))) + back)
	lines := bufio.NewReaderSize(os.Stdin, 64<<10)
	for {
		if _, err := lines.ReadSlice('\n'); err != nil {
			return nil
		}
		if _, err := os.Stdout.Write(text); err != nil {
			return err
		}
	}
}

func sink(size int) error {
	fmt.Println("ready")
	if _, err := io.CopyN(io.Discard, os.Stdin, int64(size)); err != nil {
		return err
	}
	fmt.Println("done")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// pump copies with the same chunk as the tee, and the same calls: os.File's own shortcuts for copying would not do for a tee.
func pump(argv []string) error {
	c := exec.Command(argv[0], argv[1:]...)
	stdin, toChild, err := os.Pipe()
	if err != nil {
		return err
	}
	fromChild, stdout, err := os.Pipe()
	if err != nil {
		return err
	}
	c.Stdin, c.Stdout, c.Stderr = stdin, stdout, os.Stderr
	if err := c.Start(); err != nil {
		return err
	}
	toChild.Fd()
	fromChild.Fd() // both block from now on, as those of the tee do
	stdin.Close()
	stdout.Close()
	go func() {
		carry(toChild, os.Stdin)
		toChild.Close()
	}()
	carry(os.Stdout, fromChild)
	return c.Wait()
}

func carry(to io.Writer, from io.Reader) {
	chunk := make([]byte, 64<<10)
	for {
		n, err := from.Read(chunk)
		if n > 0 {
			if _, err := to.Write(chunk[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
