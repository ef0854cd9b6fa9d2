"""Greetings, farewells and remarks as people type them in chats: short forms, slang and sentences around them."""

from question_words import R, pick, typed
from small_talk import mark

HELLO = "Hello! How can I help you?"
FINE = "I am fine, thank you. What can I do for you?"
BYE = "Goodbye! Come back soon."
WELCOME = "You are welcome!"
ALL_RIGHT = "All right! What else can I do for you?"
KIND = "Thank you, that is kind of you!"

NAMES = ["mini", "pagoda", "bot", "buddy", "pal", "mate", "friend", "dude", "man", "bro", "folks", "all", "y'all", "robot", "computer", "machine", "AI", "assistant", "chat", "little model", "stranger", "boss", "chief"]
GREETING = ["hi", "hey", "hello", "yo", "hiya", "heya", "howdy", "ahoy", "hallo", "hullo", "hey hey", "hi hi", "hello hello", "yoo", "heyo", "ello", "'ello", "allo", "oy", "wassup", "whassup", "waddup", "whats up", "what's up", "what up", "sup sup",
            "whats new", "what's new", "whats happening", "what's cooking", "what's the word", "good morning", "good day", "good evening", "morning", "mornin", "afternoon", "evening", "evenin", "greetings", "salutations", "welcome back", "good to be here",
            "sup bro", "sup dude", "supp", "sup bot", "sup there", "so sup", "oi oi", "oi mate", "oi you", "oi there", "what's good bro", "what's good with you", "what's good today", "whats good fam", "long time no chat", "long time no talk", "long time no hear", "it's been a long time", "top of the day", "top of the day to you", "top of the mornin", "a good morning to you", "the best of mornings to you", "yo hello", "well hi", "well good morning", "look who is here", "well well", "aloha", "bonjour", "hola", "namaste", "g'day", "gday"]
THERE = ["anyone there", "anybody home", "anyone around", "is anyone listening", "are you there", "you there", "are you awake", "you awake", "are you up", "are you on", "are you online now", "can you hear me", "do you hear me", "do you read me", "is this on", "does this work",
         "is this working", "is somebody there", "somebody home", "hello in there", "are you listening", "still there", "are you ready", "ready", "is it you", "testing testing", "test test", "mic check", "one two, one two",
         "is this thing working", "is this thing running", "is the thing on", "is it on", "is the bot on", "are you switched on", "wake up", "wakey wakey", "anyone out there", "anybody out there", "anybody listening", "is anybody in", "are you at home", "knock knock"]
NEWS = ["it's me", "me again", "here I am", "I am back", "i'm back", "back again", "I just got here", "first time here", "new here", "just trying this out", "just saying hi", "just wanted to say hello", "it has been a while", "nice to see you", "glad to meet you", "pleased to meet you",
        "good to see you again", "let's begin", "let us start", "shall we start", "I am here", "hi from my desk", "hello from the kitchen", "greetings from Norway", "hello from far away"]
HOW = ["how are ya", "how r ya", "hru", "how you doing", "how u doin", "how do you do today", "how's things", "how's everything", "how is everything", "how's your day", "hows it going", "how's it goin", "how goes", "you alright", "you okay", "u ok", "are you good", "all good with you", "all good",
       "everything ok", "everything good", "are we good", "how is life", "how have you been lately", "how's the weather in there", "feeling good", "how do you feel today", "doing well",
       "u good bro", "you good", "you good today", "u alright", "u fine", "are u good", "are you fine", "everything alright", "everything alright there", "everything fine with you", "everything okay with you", "is everything alright", "is all well", "all well with you", "are you doing ok", "you doing well", "doing alright", "alright mate", "how is your morning", "how's your night", "how are things", "how's it going today"]
FAREWELL = ["bye", "byee", "bye bye", "goodbye", "see ya", "see you", "cu", "cul8r", "l8r", "later", "later gator", "talk later", "talk soon", "speak soon", "ttys", "g2g", "gtg", "gotta run", "gotta bounce", "got to go", "have to run", "need to run", "I'm off", "im off", "I'm leaving", "im leaving now", "off I go",
            "heading off", "heading home", "heading to bed", "going to sleep", "time for bed", "nite", "night night", "good night", "gnight", "sleep well", "sweet dreams", "take care", "take it easy", "stay safe", "be well", "farewell", "so long", "cheerio", "ciao", "adieu", "peace", "I am out", "im out", "signing off", "over and out",
            "until tomorrow", "till next time", "see you around", "see ya around", "catch you later", "catch ya later", "have a good day", "have a great day", "have a nice evening", "enjoy your day", "that's it for today", "that will be all", "that was all", "I am done here", "we are done", "bye for today", "brb", "be right back",
            "laters mate", "laters all", "later then", "laterz", "gn all", "gn bot", "gn everyone", "gn then", "gn friend", "gnite", "night", "night all", "nighty", "nighty nite", "nighty bot", "toodle oo", "toodle pip", "toodles bot", "toodles then", "tata", "ta ta for now", "flip side", "see you on the flip side", "on the flip side", "have a good one mate", "have a good one then", "have a good weekend", "have a nice one", "have a good night", "have a pleasant day", "enjoy your evening", "hasta la vista", "au revoir", "sayonara", "cya mate", "cya soon", "ok cya", "ttyl bot", "ok ttyl", "see you soon", "see you tomorrow", "I must go", "I have to leave", "leaving now", "going home now", "going out now", "bye now"]
GRATITUDE = ["ty", "tyvm", "tysm", "thx", "thnx", "tnx", "thanx", "thks", "thank u", "thank ya", "thanks a bunch", "thanks a ton", "thanks loads", "thanks heaps", "many thanks", "cheers", "ta", "much appreciated", "appreciate it", "I appreciate that", "I am grateful", "thanks, that worked", "that helped", "that helps a lot",
             "that was very useful", "you saved me", "thanks for the help", "kthx", "ok thx", "cool thx", "great thx", "thank you so much", "bless you", "gracious of you", "I owe you one",
             "obliged", "I am obliged", "I am much obliged", "much obliged to you", "obliged to you", "most grateful", "very grateful", "thank you kindly", "thanks kindly", "thanks, very useful", "thx for that", "thx for the answer", "cheers for the help", "ty for that", "ty bot", "oh thanks", "oh thank you"]
REMARK = ["k", "kk", "ok", "okay", "okey", "okey dokey", "okie", "alrighty", "roger", "roger that", "copy that", "noted", "gotcha then", "got it", "i get it", "I see", "ic", "right", "right on", "sure", "sure thing", "yup", "yep", "ya", "yeah", "yea", "yes sir", "nah", "nope", "no way", "no worries", "no problem", "nvm",
          "never mind", "whatever", "idk", "idc", "meh", "hmm", "hm", "huh", "oh", "oh well", "oh no", "oops", "ouch", "ugh", "wow", "whoa", "omg wow", "wtf", "lol", "lolol", "rofl", "haha", "hahaha", "hehe", "xd", "jk", "just kidding", "for real", "fr", "same", "true", "so true", "facts", "indeed", "exactly", "agreed", "fine by me",
          "fair", "fair point", "good point", "that makes sense", "interesting", "I guess", "i guess so", "maybe later", "let me think", "one moment", "hold on", "wait", "go on", "and then", "so", "well", "anyway", "cool cool", "sweet", "neat", "nice", "great stuff", "sounds good", "sounds fun", "bro", "dude", "bruh moment", "man", "yikes", "smh",
          "lmao nice", "lmao ok", "lmaooo", "lmao no", "lmfao", "haha lmao", "bruh what", "bruh no", "bruhh", "bruh ok", "fair enough then", "that's fair enough", "ok fair enough", "fair play", "fair nuff", "it makes sense", "makes sense to me", "makes total sense", "ok makes sense", "that does make sense", "omg lol", "omg no", "np bro", "np at all", "gotcha bro", "ok gotcha", "ok cool bro", "haha nice", "hmm right", "hmm i see", "oh ok", "oh right", "oh cool", "yeah right", "yeah ok", "sure ok", "come on", "lol come on", "lol what", "what even"]
PRAISE = ["you rule", "you're awesome", "you are cool", "you're a star", "you are the man", "you are dope", "you're lit", "you are fire", "ur cool", "ur the best", "u r great", "well played", "good bot", "good robot", "nice work", "nice job", "great job", "great work", "good one", "nice answer", "you nailed it", "that is lit",
          "that was dope", "that's sick", "that is so cool of you", "I like you", "love it", "love this", "I love you", "you made my day", "you are helpful", "what a nice bot", "respect", "props to you", "kudos", "bravo", "hats off",
          "you rock bot", "you rock my world", "you rock so much", "that's dope bot", "so dope", "nice one bot", "nice one mate", "you are a great bot", "you did great", "awesome job", "that was great", "that was cool"]


def slang():
    """(question, answer, thought)"""
    i = R.choices(range(7), [7, 3, 3, 4, 2, 4, 2])[0]
    whom = pick("", "", "", ", ", " ")
    if whom:
        whom += R.choice(NAMES)
    if i == 0:
        q = pick(R.choice(GREETING), R.choice(GREETING) + pick(" ", ", ") + pick(R.choice(THERE), R.choice(NEWS), R.choice(GREETING)), R.choice(NEWS))
        return mark(q + whom), HELLO, "The user greets me."
    if i == 1:
        return mark(pick("", pick("hi", "hey", "yo", "hello", "ok") + pick(" ", ", ")) + R.choice(HOW) + whom), FINE, "The user asks how I am."
    if i == 2:
        return mark(pick("", pick("hi", "hey", "hello", "yo") + pick(" ", ", ")) + R.choice(THERE) + whom), HELLO, "The user greets me."
    if i == 3:
        return mark(pick("", "", pick("ok", "alright", "well", "thanks", "k", "right") + pick(" ", ", ")) + R.choice(FAREWELL) + whom), BYE, "The user says goodbye."
    if i == 4:
        return mark(R.choice(GRATITUDE) + whom), WELCOME, "The user thanks me."
    if i == 5:
        return mark(R.choice(REMARK)), ALL_RIGHT, "The user comments."
    return typed(R.choice(PRAISE) + whom), KIND, "The user says something kind."
